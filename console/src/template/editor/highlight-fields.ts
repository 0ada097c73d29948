import { Decoration, MatchDecorator, ViewPlugin } from '@codemirror/view';

const matcher = new MatchDecorator({
  regexp: /\{\{\{?[^{}]*\}\}\}?/g,
  decoration: Decoration.mark({ class: 'cm-field' }),
});

/** Highlights fields and sections. */
export const highlightFields = ViewPlugin.define(
  (view) => ({
    decorations: matcher.createDeco(view),
    update(update) {
      this.decorations = matcher.updateDeco(update, this.decorations);
    },
  }),
  { decorations: (plugin) => plugin.decorations },
);
