/**
 * Finds a heading that is no longer on its page: in a chapter of that page, or else on the first page that has it.
 *
 * @param {string} page the name of the page's file, "" for the start page
 * @param {string} hash such as "#threads"
 * @param {string[]} addresses the addresses of all sections, such as "memory.html#threads"
 * @returns {string | undefined} its address, if any page has it
 */
export function placeOf(page, hash, addresses) {
  const found = addresses.filter((address) => address.endsWith(hash));
  const chapters = page.replace(".html", "-");
  return found.find((address) => page !== "" && address.startsWith(chapters)) ?? found[0];
}
