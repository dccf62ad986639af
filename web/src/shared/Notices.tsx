/** Messages about the person's input or link. */
export function Notices({ notices }: { notices: readonly string[] }) {
  return (
    <div class="notices" role="status">
      {notices.map((notice) => (
        <p key={notice}>{notice}</p>
      ))}
    </div>
  );
}
