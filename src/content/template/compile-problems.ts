import type { MarkupTag } from './parse-markup.ts';
import { writeTag } from './protect-markup.ts';
import {
  type SourcePosition,
  sourcePositionOf,
  type TemplatePart,
  type TemplateProblem,
} from './template-problem.ts';

/** Collects the problems of one template's parts. */
export class CompileProblems {
  readonly list: TemplateProblem[] = [];

  get hasErrors(): boolean {
    return this.list.some(({ severity }) => severity === 'error');
  }

  error(
    part: TemplatePart,
    rule: string,
    message: string,
    position: Partial<SourcePosition> = {},
  ): void {
    this.#add({ severity: 'error', part, rule, message, ...position });
  }

  warning(part: TemplatePart, rule: string, message: string): void {
    this.#add({ severity: 'warning', part, rule, message });
  }

  /** Tag problems of one part, located in its source. */
  forSource(part: TemplatePart, source: string): TagProblems {
    return {
      error: (tag, rule, message) => {
        this.error(part, rule, `${writeTag(tag)} ${message}`, sourcePositionOf(source, tag.start));
      },
    };
  }

  #add(problem: TemplateProblem): void {
    // A tag that MJML repeats in its output is still one mistake in the source.
    if (!this.list.some((other) => sameProblem(other, problem))) this.list.push(problem);
  }
}

export interface TagProblems {
  error(tag: MarkupTag, rule: string, message: string): void;
}

function sameProblem(a: TemplateProblem, b: TemplateProblem): boolean {
  const compared = ['part', 'rule', 'line', 'column', 'message'] as const;
  return compared.every((member) => a[member] === b[member]);
}

/**
 * True for V8's stack overflow error. HTML parsers and serializers recurse once per nesting level, so this is how a
 * document that is nested too deeply shows up.
 */
export function isStackOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded';
}
