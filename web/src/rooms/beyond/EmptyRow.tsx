/** Reserves the space of a row until its numbers arrive. */
export function EmptyRow() {
  return (
    <tr>
      <td>&nbsp;</td>
    </tr>
  );
}
