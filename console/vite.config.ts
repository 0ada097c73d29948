import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { mantineStyles } from './mantine-styles.ts';

const root = import.meta.dirname;

/** Writes Brotli and gzip versions of each text file, so that the service doesn't compress at runtime. */
function precompress(): Plugin {
  return {
    name: 'precompress',
    apply: 'build',
    async closeBundle() {
      const folder = join(root, 'dist/assets');
      for (const name of await readdir(folder)) {
        if (!/\.(?:js|css|svg)$/.test(name)) continue;
        const bytes = await readFile(join(folder, name));
        await writeFile(join(folder, `${name}.br`), brotliCompressSync(bytes));
        await writeFile(join(folder, `${name}.gz`), gzipSync(bytes));
      }
    },
  };
}

export default defineConfig({
  root,
  base: '/console/',
  plugins: [react(), mantineStyles(), precompress()],
  // The service replaces this with a new nonce for each page; only <style> elements that carry it apply.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    // Those that have light-dark(), which the pages without scripts use too.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // `data:` URLs would need a looser Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      input: { index: join(root, 'index.html'), frame: join(root, 'frame.html') },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/manage', '/sign-in', '/brand'].map((path) => [path, 'http://127.0.0.1:3000']),
    ),
  },
});
