/** The style sheets of an element in the document of its window, and the window's changes that the element follows. */
import { media, type PageWindow } from "../picture/page.js";

const sheetsIn = new WeakMap<PageWindow, Map<string, CSSStyleSheet>>();

/**
 * Creates a style sheet once for all elements of a window, because a style sheet belongs to one
 * document. Markup is not used, because a strict content security policy forbids it.
 */
function sheetOf(css: string, page: PageWindow): CSSStyleSheet {
  const sheets = sheetsIn.get(page) ?? new Map<string, CSSStyleSheet>();
  sheetsIn.set(page, sheets);
  const known = sheets.get(css) ?? new page.CSSStyleSheet();
  if (!sheets.has(css)) known.replaceSync(css);
  sheets.set(css, known);
  return known;
}

/**
 * Sets the style sheets, because an element loses them in another document. jsdom has no style
 * sheets, and shows nothing.
 */
export function adoptSheets(root: ShadowRoot, styles: readonly string[]): void {
  const page = root.ownerDocument.defaultView as PageWindow | null;
  if (page?.CSSStyleSheet?.prototype.replaceSync === undefined) return;
  const sheets = styles.map((css) => sheetOf(css, page));
  if (root.adoptedStyleSheets?.[0] !== sheets[0]) root.adoptedStyleSheets = sheets;
}

/**
 * Calls these functions until the signal is aborted: when the theme or the resolution changes,
 * before and after printing, and with a new width.
 */
export function followWindow(
  page: PageWindow,
  content: Element,
  signal: AbortSignal,
  told: { changed(): void; print(isPrinting: boolean): void; resized(width: number): void },
): void {
  const { changed } = told;
  for (const query of [
    "(prefers-color-scheme: dark)",
    "(forced-colors: active)",
    "(pointer: coarse)",
  ])
    media(page, query)?.addEventListener("change", changed, { signal });
  const paper = media(page, "print");
  paper?.addEventListener("change", () => told.print(paper.matches), { signal });
  page.addEventListener("beforeprint", () => told.print(true), { signal });
  page.addEventListener("afterprint", () => told.print(false), { signal });
  page.addEventListener("resize", changed, { signal });
  const followResolution = () => {
    if (signal.aborted) return;
    const query = media(page, `(resolution: ${page.devicePixelRatio}dppx)`);
    const next = () => {
      changed();
      followResolution();
    };
    query?.addEventListener("change", next, { once: true, signal });
  };
  followResolution();
  if (page.ResizeObserver === undefined) return;
  const sizes = new page.ResizeObserver(([entry]) =>
    told.resized(Math.floor(entry?.contentRect.width ?? 0)),
  );
  sizes.observe(content);
  signal.addEventListener("abort", () => sizes.disconnect());
}
