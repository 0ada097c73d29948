import { Accordion, Badge, Checkbox, Group, Stack, Text, TextInput, Title } from '@mantine/core';
import type { TemplateContent, TemplateField } from '../../api/management.generated.ts';
import { text } from '../../texts/text.ts';

type Settings = NonNullable<TemplateContent['fields']>;

interface FieldsPanelProps {
  found: readonly TemplateField[];
  settings: Settings;
  onChange: (settings: Settings) => void;
}

/** The fields that were found in the content, and what is to be known about each. */
export function FieldsPanel({ found, settings, onChange }: FieldsPanelProps) {
  function change(name: string, part: Settings[string]) {
    const field = { ...settings[name], ...part };
    // Without a default every request must give a value, so an empty one is a decision of its own.
    const kept = Object.fromEntries(
      Object.entries(field).filter(([, value]) => value !== undefined && value !== false),
    );
    onChange({ ...settings, [name]: kept });
  }

  return (
    <section aria-labelledby="fields">
      <Title order={2} id="fields" mt="lg">
        {text('editor.fields')}
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {text(found.length === 0 ? 'editor.noFields' : 'editor.fieldsHint')}
      </Text>
      <Accordion variant="separated" order={3}>
        {found.map(({ name, required, secret }) => (
          <Accordion.Item key={name} value={name}>
            <Accordion.Control>
              <Group gap="xs">
                <Text span fw={600} size="sm">
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
            </Accordion.Control>
            <Accordion.Panel>
              <FieldSettings
                settings={settings[name] ?? {}}
                change={(part) => change(name, part)}
              />
            </Accordion.Panel>
          </Accordion.Item>
        ))}
      </Accordion>
    </section>
  );
}

interface FieldSettingsProps {
  settings: Settings[string];
  change: (part: Settings[string]) => void;
}

function FieldSettings({ settings, change }: FieldSettingsProps) {
  return (
    <Stack gap="xs">
      <TextInput
        label={text('editor.sample')}
        value={settings.sample ?? ''}
        onChange={(event) => change({ sample: event.currentTarget.value || undefined })}
      />
      <Checkbox
        label={text('editor.hasDefault')}
        checked={settings.default !== undefined}
        onChange={(event) => change({ default: event.currentTarget.checked ? '' : undefined })}
      />
      {settings.default !== undefined && (
        <TextInput
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
