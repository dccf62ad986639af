/** What the person should know about their input or their link, in words. */
export function Notices({ notices }: { notices: readonly string[] }) {
  return (
    <div class="notices" role="status">
      {notices.map((notice) => (
        <p key={notice}>{notice}</p>
      ))}
    </div>
  );
}
