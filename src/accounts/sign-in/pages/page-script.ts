import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ZippedContent } from '../../../host/http/zipped-content.ts';
import { minPasswordLength } from '../../account/hash-password.ts';
import {
  guessReasons,
  judgedLength,
  minScore,
  passwordAdvice,
} from '../../account/password-rules.ts';

/** A script of the pages. Every page works without it, except for passkeys. */
export interface PageScript {
  readonly path: string;
  /** Changes with the content. */
  url(): string;
  readonly content: ZippedContent;
}

/** The browser half of SimpleWebAuthn, then the script; shows passwords too, for the pages with both. */
export const passkeyScript = pageScript('/session.js', () => [
  dependency(import.meta.resolve('@simplewebauthn/browser'), '../dist/bundle/index.umd.min.js'),
  asset('pages.js'),
  asset('reveal.js'),
]);

/** Copies what a page shows. */
export const copyScript = pageScript('/copy.js', () => [asset('copy.js')]);

/** What is said under a new password before anything is typed. */
export const passwordHint = `At least ${minPasswordLength} characters. ${passwordAdvice}`;

/** The lists of common passwords and their rules, then the script. */
export const passwordScript = pageScript('/password.js', () => [
  dependency(import.meta.resolve('@zxcvbn-ts/core'), 'zxcvbn-ts.js'),
  dependency(import.meta.resolve('@zxcvbn-ts/language-common'), 'zxcvbn-ts.js'),
  `const rules = ${JSON.stringify({
    minLength: minPasswordLength,
    judgedLength,
    minScore,
    reasons: guessReasons,
    hint: passwordHint,
    advice: passwordAdvice,
  })};`,
  asset('password.js'),
  asset('reveal.js'),
]);

/** Read with the first page that needs it. */
function pageScript(path: string, read: () => readonly string[]): PageScript {
  let content: string | undefined;
  let url: string | undefined;
  const text = (): string => {
    content ??= read().join('\n');
    return content;
  };
  return {
    path,
    content: new ZippedContent(async () => Buffer.from(text())),
    url() {
      url ??= `${path}?v=${createHash('sha256').update(text()).digest('base64url').slice(0, 12)}`;
      return url;
    },
  };
}

/**
 * @param main the main file of the package
 * @param file relative to it
 */
function dependency(main: string, file: string): string {
  return readFileSync(new URL(file, main), 'utf8');
}

function asset(name: string): string {
  return readFileSync(new URL(`./assets/${name}`, import.meta.url), 'utf8');
}
