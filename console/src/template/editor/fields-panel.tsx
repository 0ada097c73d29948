import {
  ActionIcon,
  Badge,
  Checkbox,
  Group,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import type { TemplateContent, TemplateField } from '../../api/management.generated.ts';
import { Icon } from '../../components/icon.tsx';
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
      <Text size="sm" c="dimmed" mb="xs">
        {text(found.length === 0 ? 'editor.noFields' : 'editor.fieldsHint')}
      </Text>
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
          {required && (
            <Badge className="state-badge" tt="none" size="sm">
              {text('editor.required')}
            </Badge>
          )}
          {secret && (
            <Badge className="state-badge" data-color="grape" tt="none" size="sm">
              {text('editor.secret')}
            </Badge>
          )}
        </Group>
        <Textarea
          {...lines}
          size="xs"
          className="field-sample"
          aria-label={sample}
          placeholder={text('editor.sample')}
          value={settings.sample ?? ''}
          onChange={(event) => change({ sample: event.currentTarget.value || undefined })}
        />
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={text('editor.fieldSettings', { name })}
          aria-expanded={opened}
          onClick={toggle}
        >
          <Icon name="settings" size={16} />
        </ActionIcon>
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
  return (
    <Stack gap="xs" p="sm">
      <Checkbox
        label={text('editor.hasDefault')}
        checked={settings.default !== undefined}
        onChange={(event) => change({ default: event.currentTarget.checked ? '' : undefined })}
      />
      {settings.default !== undefined && (
        <Textarea
          {...lines}
          label={text('editor.default')}
          value={settings.default}
          onChange={(event) => change({ default: event.currentTarget.value })}
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
        checked={settings.secret ?? false}
        onChange={(event) => change({ secret: event.currentTarget.checked })}
      />
    </Stack>
  );
}
