import { repliesTexts } from '../texts/en/replies.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: repliesTexts });
