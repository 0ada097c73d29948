import { unmatched } from './unmatched.ts';

/** More elements than any email has. In larger ones nothing is marked, so that the page doesn't hang. */
const maxElements = 2_000;

/** Outlines the elements of an email that another version doesn't have. */
export function markChanges(mail: Document, against: string, color: string): void {
  const elements = visibleElements(mail);
  const others = visibleElements(new DOMParser().parseFromString(against, 'text/html'));
  if (elements.length > maxElements || others.length > maxElements) return;
  const changed = unmatched(elements.map(signature), others.map(signature));
  elements.forEach((part, index) => {
    if (changed[index] !== true || !(part instanceof HTMLElement)) return;
    part.style.outline = `2px solid ${color}`;
    part.style.outlineOffset = '2px';
  });
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
