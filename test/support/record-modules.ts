import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

/** Writes the URL of each module that a process loads into the file of `LOADED_MODULES`, with `node --import`. */
const file = process.env.LOADED_MODULES ?? '';
registerHooks({
  load(url, context, next) {
    appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
