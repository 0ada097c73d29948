const mark = 'data-unfilled';

/** Highlights the names of fields without a value, in place of their braces. */
export function markUnfilled(mail: Document, names: readonly string[]): void {
  if (names.length === 0) return;
  const walker = mail.createTreeWalker(mail.body, NodeFilter.SHOW_TEXT);
  const texts: Text[] = [];
  while (walker.nextNode() !== null) texts.push(walker.currentNode as Text);
  for (const text of texts) {
    if (text.parentElement?.matches('style, script, title') === true) continue;
    const parts = text.data.split(/\{\{([^{}]+)\}\}/);
    if (parts.length === 1) continue;
    // Every second part is a name.
    text.replaceWith(
      ...parts.map((part, index) => {
        if (index % 2 === 0) return part;
        return names.includes(part) ? chip(mail, part) : `{{${part}}}`;
      }),
    );
  }
}

function chip(mail: Document, name: string): HTMLElement {
  const element = mail.createElement('mark');
  element.setAttribute(mark, '');
  element.textContent = name;
  element.style.cssText =
    'display: inline-block; max-width: 100%; padding: 1px 5px; border-radius: 4px; background: #fff0c2; color: #6a4a00';
  return element;
}

/** The text of a node and of what it was one text with before names in it were highlighted. */
export function textAround(node: Node | undefined): string | undefined {
  const parent = node?.parentElement;
  const around = parent?.hasAttribute(mark) === true ? parent.parentElement : parent;
  if (around?.querySelector(`:scope > [${mark}]`) == null) return node?.textContent ?? undefined;
  return [...around.childNodes]
    .map((one) =>
      one instanceof Element && one.hasAttribute(mark) ? `{{${one.textContent}}}` : one.textContent,
    )
    .join('');
}
