import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { TemplateSource } from '../template-source.ts';

/** A finished template that a new one can start from. */
export interface StarterTemplate {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly content: TemplateSource;
  /** Whether a request brings the document that the message announces. */
  readonly attachment: boolean;
}

/** A starter in `starters.yaml`: its title, the components of its card and its footer stand in the layout that all share. */
interface StarterFile extends Omit<StarterTemplate, 'content'>, Pick<TemplateSource, 'fields'> {
  readonly subject: string;
  readonly previewText: string;
  readonly title: string;
  readonly body: string;
  readonly footer: string;
}

const read = (name: string): string => readFileSync(new URL(name, import.meta.url), 'utf8');

/** Eight templates that most products need, with the account's name. */
export function starterTemplates(accountName: string): readonly StarterTemplate[] {
  const layout = read('./layout.mjml');
  const starters = parse(read('./starters.yaml')) as readonly StarterFile[];
  const company = starterMarkup(accountName);
  return starters.map(({ subject, previewText, fields, title, body, footer, ...starter }) => {
    const parts = { title, body: body.trimEnd().replaceAll(/^(?=.)/gm, '          '), footer };
    const named = Object.fromEntries(
      Object.entries(parts).map(([part, text]) => [part, fillIn(text, { company })]),
    );
    return {
      ...starter,
      content: {
        subject: fillIn(subject, { company: subjectOf(accountName) }),
        previewText,
        mjml: fillIn(layout, { ...named, company }),
        ...(fields && { fields }),
      },
    };
  });
}

/** Replaces placeholders such as `%company%`; what they become isn't read again. */
function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/%(\w+)%/g, (placeholder, name: string) => values[name] ?? placeholder);
}

/** The name of an account in MJML, where neither markup nor fields may be read from it. */
function starterMarkup(name: string): string {
  return name.replaceAll(/[&<>"{}]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The name of an account in a subject: it can't quote braces, and long subjects are cut off by mail programs. */
function subjectOf(name: string): string {
  return [...name.replaceAll(/[{}]/g, '')].slice(0, 40).join('');
}
