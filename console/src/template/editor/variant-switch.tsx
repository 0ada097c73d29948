import { Button, Group, NativeSelect, TextInput } from '@mantine/core';
import { useState } from 'react';
import { localProblem } from '../../api/problem.ts';
import { choicesOf } from '../../components/choices-of.ts';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { useDialog } from '../../components/use-dialog.ts';
import { nameLocale } from '../../format/name-locale.ts';
import { text } from '../../texts/text.ts';
import { withoutUnused } from './switch-markup.ts';
import type { EditedContent } from './use-draft.ts';

interface VariantSwitchProps {
  content: EditedContent;
  change: (part: Partial<EditedContent>) => void;
  /** The locale of the variant that is edited; undefined: the default content. */
  variant: string | undefined;
  choose: (variant: string | undefined) => void;
  readOnly: boolean;
}

/** Not a locale: adds one. */
const addition = '+';

/** Chooses which language of a template is edited, and adds and removes languages. */
export function VariantSwitch({ content, change, variant, choose, readOnly }: VariantSwitchProps) {
  const add = useDialog();
  const locales = Object.keys(content.variants ?? {}).toSorted();
  const taken = content.locale === undefined ? locales : [...locales, content.locale];

  function create(locale: string) {
    const { subject, previewText, html, mjml, text: plain } = content;
    const copy = { subject, previewText, html, mjml, text: plain };
    change({ variants: { ...content.variants, [locale]: copy } });
    choose(locale);
  }

  function remove(locale: string) {
    const { [locale]: _, ...rest } = content.variants ?? {};
    change({
      variants: Object.keys(rest).length === 0 ? undefined : rest,
      ...withoutUnused(content, locale),
    });
    choose(undefined);
  }

  return (
    <Group align="flex-end" gap="sm">
      <NativeSelect
        label={text('editor.language')}
        value={variant ?? ''}
        onChange={(event) => {
          if (event.currentTarget.value === addition) return add.open();
          return choose(event.currentTarget.value || undefined);
        }}
        data={[
          {
            value: '',
            label: text('editor.defaultLanguage', { locale: nameLocale(content.locale) }),
          },
          ...choicesOf(locales, nameLocale),
          ...(readOnly ? [] : [{ value: addition, label: text('editor.addLanguageChoice') }]),
        ]}
      />
      {!readOnly && variant !== undefined && (
        <Button variant="default" c="red" onClick={() => remove(variant)}>
          {text('editor.removeLanguage', { locale: nameLocale(variant) })}
        </Button>
      )}
      {variant === undefined && locales.length > 0 && (
        <TextInput
          label={text('editor.defaultLocale')}
          placeholder="en"
          maxLength={35}
          value={content.locale ?? ''}
          readOnly={readOnly}
          onChange={(event) => change({ locale: event.currentTarget.value || undefined })}
        />
      )}
      <AddLanguage {...add.props} taken={taken} create={create} />
    </Group>
  );
}

interface AddLanguageProps {
  opened: boolean;
  close: () => void;
  taken: readonly string[];
  create: (locale: string) => void;
}

function AddLanguage({ taken, create, ...dialog }: AddLanguageProps) {
  const [typed, setTyped] = useState('');

  async function submit() {
    const locale = readLocale(typed);
    if (locale === undefined) throw localProblem('locale', text('editor.badLocale'));
    if (taken.includes(locale)) throw localProblem('locale', text('editor.takenLocale'));
    create(locale);
    setTyped('');
  }

  return (
    <FormDialog
      {...dialog}
      title={text('editor.addLanguage')}
      action={text('editor.addLanguage')}
      submit={submit}
    >
      <Field
        field="locale"
        label={text('editor.locale')}
        description={text('editor.localeHint')}
        required
        maxLength={35}
        value={typed}
        change={setTyped}
        data-autofocus
      />
    </FormDialog>
  );
}

/** The canonical form of a language tag. */
function readLocale(typed: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(typed.trim())[0];
  } catch {
    return undefined;
  }
}
