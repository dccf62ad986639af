/** Reserves the space of a row whose numbers are not there yet. */
export function EmptyRow() {
  return (
    <tr>
      <td>&nbsp;</td>
    </tr>
  );
}
