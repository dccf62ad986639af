import { render } from "preact";
import { EngineClient } from "../worker/engineClient";
import { App } from "./app";
import { keepOffline } from "./offline";
import { arrive } from "./usePlace";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/shell.css";
import "./styles/matrix.css";
import "./styles/parts.css";
import "./styles/models.css";
import "./styles/screen.css";
import "./styles/print.css";

const root = document.getElementById("page");
if (root) {
  // The engine starts while the room is loading.
  const engine = new EngineClient();
  if (import.meta.env.PROD) keepOffline();
  const first = await arrive().catch(() => null);
  if (first) {
    // Removes the placeholder, which only reserves the layout.
    root.replaceChildren();
    render(<App first={first} engine={engine} />, root);
  } else {
    root.append("The page did not load completely. Is there a connection? Reload it to try again.");
  }
}
