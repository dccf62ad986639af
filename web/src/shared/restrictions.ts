/** How a teacher's link restricts the page. */

/** What a teacher's link asks for. */
export interface Restrictions {
  /** Parts that are not shown: "nav", "text", or panels of the room. */
  readonly hide: readonly string[];
  /** Nothing can be changed but playing and pointing. */
  readonly lock: boolean;
  /** The one panel to show, for an iframe. */
  readonly embed: string | null;
}

export const noRestrictions: Restrictions = { hide: [], lock: false, embed: null };

/** Whether a teacher's link hides a part. Words inside of a panel ask for "text" with this. */
export function hides({ hide }: Restrictions, part: string): boolean {
  return hide.includes(part);
}

/** Whether a panel is to be seen: it may be hidden, or another one be shown alone. */
export function shows(restrictions: Restrictions, panel: string): boolean {
  return (
    !hides(restrictions, panel) && (restrictions.embed === null || restrictions.embed === panel)
  );
}
