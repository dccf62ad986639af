/** The page's own language model. */

/** Its folder. The address is absolute, because the worker's base address differs from the page's. */
export const ourAddress = (): string => new URL("models/write", document.baseURI).href;

/** Whether the person asked the browser to load little, or the network is slow. Some browsers do not report this. */
export function savesData(): boolean {
  const { connection } = (globalThis.navigator ?? {}) as Navigator & {
    readonly connection?: { readonly saveData?: boolean; readonly effectiveType?: string };
  };
  return connection?.saveData === true || /[23]g$/.test(connection?.effectiveType ?? "");
}
