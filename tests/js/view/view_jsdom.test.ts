// @vitest-environment jsdom

import { testComponents } from "./components.js";

testComponents();
