import { destinationsTexts } from '../texts/en/destinations.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: destinationsTexts });
