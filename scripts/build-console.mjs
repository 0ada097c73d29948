// Builds console/dist, or skips it if the development packages aren't installed. Plain JavaScript, because `npm ci` also runs
// it on Node versions without TypeScript support.
import process from 'node:process';
import { fileURLToPath } from 'node:url';

async function loadVite() {
  try {
    return await import('vite');
  } catch {
    return undefined;
  }
}

// A test runner may have set another environment, which would build React with its development checks.
process.env.NODE_ENV = 'production';

const configFile = fileURLToPath(new URL('../console/vite.config.ts', import.meta.url));
const vite = await loadVite();
if (vite === undefined) {
  process.stdout.write('The console is not built: the development packages are not installed.\n');
} else {
  await vite.build({ configFile, logLevel: process.argv.includes('--verbose') ? 'info' : 'warn' });
}
