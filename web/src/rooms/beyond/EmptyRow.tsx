/** Keeps the place of a row whose numbers are on their way. */
export function EmptyRow() {
  return (
    <tr>
      <td>&nbsp;</td>
    </tr>
  );
}
