import { isWord, splitWords } from './split-words.ts';
import { unmatched } from './unmatched.ts';

/** More elements or words than emails have. In larger ones nothing is marked, so that the page doesn't hang. */
const maxElements = 2_000;
const maxWords = 4_000;

/** What one version has and the other doesn't. */
export type ChangeKind = 'removed' | 'added';

const colors = {
  removed: { words: 'background: #fde0e0; color: #8a1616', edge: '#d6453d' },
  added: { words: 'background: #d9f2df; color: #17512a', edge: '#2b8a6b' },
} as const;

/** Marks the words of an email that another version doesn't have, and elements that differ otherwise. */
export function markChanges(mail: Document, against: string, kind: ChangeKind): void {
  const other = new DOMParser().parseFromString(against, 'text/html');
  const elements = changedElements(mail, other);
  markWords(mail, other, kind);
  for (const element of elements) {
    // Its words say it.
    if (element.querySelector(`mark[${mark}]`) !== null) continue;
    element.style.outline = `2px solid ${colors[kind].edge}`;
    element.style.outlineOffset = '2px';
  }
}

const mark = 'data-changed';

/** Elements that the other version doesn't have with the same attributes and content. */
function changedElements(mail: Document, other: Document): HTMLElement[] {
  const elements = visibleElements(mail);
  const others = visibleElements(other);
  if (elements.length > maxElements || others.length > maxElements) return [];
  const changed = unmatched(elements.map(signature), others.map(signature));
  return elements.filter(
    (element, index): element is HTMLElement =>
      changed[index] === true && element instanceof HTMLElement,
  );
}

/** The elements that directly contain text, and images and rules. */
function visibleElements(mail: Document): Element[] {
  return [...mail.body.querySelectorAll('*')].filter(
    (element) => element.matches('img, hr') || hasText(element),
  );
}

function hasText(element: Element): boolean {
  if (element.matches('style, script, title')) return false;
  return [...element.childNodes].some(
    (node) => node.nodeType === Node.TEXT_NODE && (node.textContent ?? '').trim() !== '',
  );
}

function signature(element: Element): string {
  return element.outerHTML;
}

function markWords(mail: Document, other: Document, kind: ChangeKind): void {
  const texts = textsOf(mail);
  const words = texts.flatMap(({ data }) => splitWords(data).filter(isWord));
  const others = textsOf(other).flatMap(({ data }) => splitWords(data).filter(isWord));
  if (words.length > maxWords || others.length > maxWords) return;
  const changed = unmatched(words, others);
  let next = 0;
  for (const text of texts) {
    const parts = splitWords(text.data).map((part) => {
      if (!isWord(part) || changed[next++] !== true) return part;
      const marked = mail.createElement('mark');
      marked.setAttribute(mark, '');
      marked.textContent = part;
      marked.style.cssText = `border-radius: 2px; ${colors[kind].words}`;
      return marked;
    });
    if (parts.some((part) => typeof part !== 'string')) text.replaceWith(...parts);
  }
}

function textsOf(mail: Document): Text[] {
  const walker = mail.createTreeWalker(mail.body, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode() !== null) {
    const text = walker.currentNode as Text;
    if (text.parentElement?.matches('style, script, title') !== true) texts.push(text);
  }
  return texts;
}
