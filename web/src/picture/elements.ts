/** The elements of `heed/view` in the page's markup. */
import type { HeedElements, HeedMarkup } from "heed/view";
import type { HTMLAttributes } from "preact";

type Elements = {
  [Tag in keyof HeedElements]: HeedMarkup<HeedElements[Tag], HTMLAttributes<HeedElements[Tag]>>;
};

declare module "preact" {
  namespace JSX {
    interface IntrinsicElements extends Elements {}
  }
}
