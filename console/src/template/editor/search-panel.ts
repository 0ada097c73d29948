import { search } from '@codemirror/search';
import { EditorState, type Extension } from '@codemirror/state';
import { text } from '../../texts/text.ts';

/** Search and replace above the source, because the browser's own search only finds the lines in sight. */
export function searchPanel(): Extension {
  return [
    search({ top: true }),
    EditorState.phrases.of({
      Find: text('editor.find'),
      next: text('editor.findNext'),
      previous: text('editor.findPrevious'),
      all: text('editor.findAll'),
      'match case': text('editor.findCase'),
      regexp: text('editor.findPattern'),
      'by word': text('editor.findWord'),
      Replace: text('editor.replace'),
      replace: text('editor.replace'),
      'replace all': text('editor.replaceAll'),
      close: text('close'),
    }),
  ];
}
