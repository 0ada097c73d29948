import { processesTexts } from '../texts/en/processes.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: processesTexts });
