// Builds console/dist. Plain JavaScript, because npm runs it at `npm ci` also on a Node that knows no TypeScript, and
// where the development packages are absent: then there is nothing to build with, and nothing to complain about.
import { existsSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

async function loadVite() {
  try {
    return await import('vite');
  } catch {
    return undefined;
  }
}

// A test runner around us names another environment, for which React would be built with its development checks.
process.env.NODE_ENV = 'production';

const configFile = fileURLToPath(new URL('../console/vite.config.ts', import.meta.url));
// The published package has the console built, and nothing to build it from.
const vite = existsSync(configFile) ? await loadVite() : undefined;
if (!existsSync(configFile)) {
  process.stdout.write('The console came built.\n');
} else if (vite === undefined) {
  process.stdout.write('The console is not built: the development packages are not installed.\n');
} else {
  await vite.build({ configFile, logLevel: process.argv.includes('--verbose') ? 'info' : 'warn' });
}
