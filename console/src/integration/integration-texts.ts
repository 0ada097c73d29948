import { integrationsTexts } from '../texts/en/integrations.en.ts';
import { addTexts } from '../texts/text.ts';

addTexts({ en: integrationsTexts });
