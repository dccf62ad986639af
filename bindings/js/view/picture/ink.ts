/** The page's colours and font, in the form that the canvas needs. */
import type { Theme } from "./colour.js";

/** The colours and the font, read from the page's style sheet. */
export interface Ink {
  readonly ink: string;
  readonly faint: string;
  readonly page: string;
  readonly frame: string;
  readonly hidden: string;
  readonly hatch: string;
  readonly family: string;
}

export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    ink: value("--ink"),
    faint: value("--faint"),
    page: value("--page"),
    frame: value("--frame"),
    hidden: value("--hidden"),
    hatch: value("--hatch"),
    family: style.fontFamily,
  };
}

/**
 * The ink of an element of `heed/view`. The element's style sheet assigns each colour to a property
 * of the type colour, so that the browser computes a colour from any value that a page sets.
 */
export function inkOfProbe(probe: Element): Ink {
  const style = getComputedStyle(probe);
  return {
    ink: style.color,
    page: style.backgroundColor,
    frame: style.borderTopColor,
    hidden: style.borderRightColor,
    hatch: style.borderBottomColor,
    faint: style.borderLeftColor,
    family: style.fontFamily,
  };
}

const inks = new Map<Theme, Ink>();

/** The ink of a theme is read once, because reading a computed style forces a layout. */
export function inkIn(theme: Theme, element: Element): Ink {
  const known = inks.get(theme) ?? inkOf(element);
  if (known.ink) inks.set(theme, known);
  return known;
}
