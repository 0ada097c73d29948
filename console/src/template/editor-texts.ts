import { editorTexts } from '../texts/en/editor.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: editorTexts });
