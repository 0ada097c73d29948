import {
  Button,
  Checkbox,
  Group,
  NativeSelect,
  NumberInput,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { TemplateContent, TemplateField } from '../../api/management.generated.ts';
import { JsonArea } from '../../components/json-area.tsx';
import { Note } from '../../components/note.tsx';
import { Tag } from '../../components/tag.tsx';
import { text } from '../../texts/text.ts';

type Settings = NonNullable<TemplateContent['fields']>;

interface FieldsPanelProps {
  found: readonly TemplateField[];
  settings: Settings;
  onChange: (settings: Settings) => void;
}

/** The fields found in the content and their settings. */
export function FieldsPanel({ found, settings, onChange }: FieldsPanelProps) {
  function change(name: string, part: Settings[string]) {
    const field = { ...settings[name], ...part };
    // An empty default differs from none, which makes the field required.
    const cleaned = Object.fromEntries(
      Object.entries(field).filter(([, value]) => value !== undefined && value !== false),
    );
    onChange({ ...settings, [name]: cleaned });
  }

  return (
    <section aria-labelledby="fields">
      <Title order={2} id="fields" mt="lg">
        {text('editor.fields')}
      </Title>
      <Note size="sm" mb="xs">
        {text(found.length === 0 ? 'editor.noFields' : 'editor.fieldsHint')}
      </Note>
      {found.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          settings={settings[field.name] ?? {}}
          change={(part) => change(field.name, part)}
        />
      ))}
    </section>
  );
}

type Kind = NonNullable<Settings[string]['kind']>;
type Value = Settings[string]['default'];

function isStructured({ kind = 'text' }: Settings[string]): boolean {
  return kind !== 'text';
}

function textOf(value: Value): string {
  return typeof value === 'string' ? value : '';
}

function emptyOf(kind: Kind | undefined): Value {
  if (kind === 'list') return [];
  return kind === 'object' ? {} : '';
}

/** What the preview shows without a sample, if there is a default. */
function placeholderOf({ default: value }: Settings[string]): string {
  const shown = textOf(value);
  return shown === '' ? text('editor.sample') : text('editor.defaultIs', { value: shown });
}

/** The name of the input for the sample of a field. */
export function sampleName(field: string): string {
  return `sample of ${field}`;
}

/** Multi-line, because a single-line field would remove line breaks from the value. */
const lines = { autosize: true, minRows: 1, maxRows: 8 } as const;

interface FieldRowProps extends FieldSettingsProps {
  field: TemplateField;
}

/** A field with its sample; other settings are one click away. */
function FieldRow({ field: { name, required, secret }, settings, change }: FieldRowProps) {
  const [opened, { toggle }] = useDisclosure();
  const sample = text('editor.sampleOf', { name });
  return (
    <div className="line">
      <Group wrap="nowrap" gap="xs">
        <Group gap={6} className="field-name">
          <Text span fw={600} size="sm" className="breakable">
            {name}
          </Text>
          {required && <Tag size="sm">{text('editor.required')}</Tag>}
          {secret && (
            <Tag color="grape" size="sm">
              {text('editor.secret')}
            </Tag>
          )}
        </Group>
        {isStructured(settings) ? (
          <JsonArea
            size="xs"
            className="field-sample"
            name={sampleName(name)}
            aria-label={sample}
            placeholder={text('editor.json')}
            value={settings.sample}
            change={(value) => change({ sample: value as Value })}
          />
        ) : (
          <Textarea
            {...lines}
            size="xs"
            className="field-sample"
            name={sampleName(name)}
            aria-label={sample}
            placeholder={placeholderOf(settings)}
            value={textOf(settings.sample)}
            onChange={(event) => change({ sample: event.currentTarget.value || undefined })}
          />
        )}
        <Button
          variant="subtle"
          size="compact-sm"
          className="field-options"
          aria-label={text('editor.optionsOf', { name })}
          aria-expanded={opened}
          onClick={toggle}
        >
          {text('editor.options')}
        </Button>
      </Group>
      {opened && <FieldSettings settings={settings} change={change} />}
    </div>
  );
}

interface FieldSettingsProps {
  settings: Settings[string];
  change: (part: Settings[string]) => void;
}

function FieldSettings({ settings, change }: FieldSettingsProps) {
  const structured = isStructured(settings);
  const { guard = false } = settings;
  const guarded = guard !== false;
  return (
    <Stack gap="xs" p="sm">
      <NativeSelect
        label={text('editor.kind')}
        description={text('editor.kindHint')}
        value={settings.kind ?? 'text'}
        onChange={(event) => {
          const kind = event.currentTarget.value as Kind;
          // What fits one kind fits no other.
          const none = {
            default: undefined,
            sample: undefined,
            fields: undefined,
            guard: undefined,
          };
          change({ ...none, kind: kind === 'text' ? undefined : kind });
        }}
        data={[
          { value: 'text', label: text('editor.kindText') },
          { value: 'list', label: text('editor.kindList') },
          { value: 'object', label: text('editor.kindObject') },
        ]}
      />
      <Checkbox
        label={text('editor.hasDefault')}
        checked={settings.default !== undefined}
        onChange={(event) =>
          change({ default: event.currentTarget.checked ? emptyOf(settings.kind) : undefined })
        }
      />
      {settings.default !== undefined &&
        (structured ? (
          <JsonArea
            label={text('editor.default')}
            value={settings.default}
            change={(value) => change({ default: value as Value })}
          />
        ) : (
          <Textarea
            {...lines}
            label={text('editor.default')}
            value={textOf(settings.default)}
            onChange={(event) => change({ default: event.currentTarget.value })}
          />
        ))}
      {structured && (
        <JsonArea
          label={text('editor.itemFields')}
          description={text('editor.itemFieldsHint')}
          value={settings.fields}
          change={(value) => change({ fields: value as Settings[string]['fields'] })}
        />
      )}
      <TextInput
        label={text('editor.description')}
        value={settings.description ?? ''}
        onChange={(event) => change({ description: event.currentTarget.value || undefined })}
      />
      <Checkbox
        label={text('editor.secret')}
        description={text('editor.secretHint')}
        // Whoever has a guarded link can use it.
        disabled={guarded}
        checked={guarded || (settings.secret ?? false)}
        onChange={(event) => change({ secret: event.currentTarget.checked })}
      />
      {!structured && (
        <Checkbox
          label={text('editor.guard')}
          description={text('editor.guardHint')}
          checked={guarded}
          onChange={(event) => change({ guard: event.currentTarget.checked })}
        />
      )}
      {guarded && (
        <NumberInput
          label={text('editor.guardDays')}
          min={1}
          max={90}
          allowDecimal={false}
          clampBehavior="strict"
          value={typeof guard === 'object' ? (guard.days ?? 7) : 7}
          onChange={(days) => change({ guard: typeof days === 'number' ? { days } : true })}
        />
      )}
    </Stack>
  );
}
