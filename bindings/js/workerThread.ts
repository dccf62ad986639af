// The script of the worker that `loadInWorker` starts by default.

import * as models from "./models.js";
import * as nn from "./nn.js";
import { serve } from "./serve.js";

serve({}, { nn, models });
