// @vitest-environment happy-dom

import { testComponents } from "./components.js";

testComponents();
