/** How a teacher's link restricts the page. */

/** The parts that a teacher's link hides, locks or embeds. */
export interface Restrictions {
  /** Parts that are not shown: "nav", "text", or panels of the room. */
  readonly hide: readonly string[];
  /** Whether only playing, pointing, and choosing a demonstration or a view are allowed. */
  readonly lock: boolean;
  /** The one panel to show, for an iframe. */
  readonly embed: string | null;
}

export const noRestrictions: Restrictions = { hide: [], lock: false, embed: null };

/** Whether a teacher's link hides a part. Explanations inside a panel are the part "text". */
export function hides({ hide }: Restrictions, part: string): boolean {
  return hide.includes(part);
}

/** Whether the person may go to other rooms and settings. */
export function isFree(restrictions: Restrictions): boolean {
  return !restrictions.lock && restrictions.embed === null && !hides(restrictions, "nav");
}

/** Whether a panel is visible: it is not hidden, and no other panel is shown alone. */
export function shows(restrictions: Restrictions, panel: string): boolean {
  return (
    !hides(restrictions, panel) && (restrictions.embed === null || restrictions.embed === panel)
  );
}
