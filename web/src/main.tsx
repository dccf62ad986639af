import { render } from "preact";
import { App } from "./app";
import "./styles/base.css";
import "./styles/page.css";
import "./styles/controls.css";
import "./styles/pipeline.css";
import "./styles/stage.css";
import "./styles/query.css";

const root = document.getElementById("page");
if (root) {
  // What stands there until now only keeps the page's layout.
  root.replaceChildren();
  render(<App />, root);
}
