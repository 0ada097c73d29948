import { Combobox, Modal, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useAccountId, useMay } from '../account/use-me.ts';
import { answerOf, api } from '../api/management.ts';
import { Icon, type IconName } from '../components/icon.tsx';
import { type TextKey, text } from '../texts/text.ts';
import { useSections } from './navigation.tsx';
import type { PaletteInput } from './use-palette-input.ts';

interface PaletteItem {
  readonly name: string;
  readonly icon: IconName;
  go(): unknown;
}

interface PaletteProps {
  opened: boolean;
  close: () => void;
  input: PaletteInput;
}

/** Command palette for pages, templates and messages of a recipient. */
export function Palette({ opened, close, input }: PaletteProps) {
  return (
    <Modal
      opened={opened}
      onClose={close}
      title={text('palette.title')}
      yOffset="12vh"
      padding="sm"
      closeOnClickOutside
      transitionProps={{ duration: 80 }}
    >
      <PaletteItems close={close} input={input} />
    </Modal>
  );
}

function PaletteItems({ close, input }: Omit<PaletteProps, 'opened'>) {
  const { typed, entered } = input;
  const { items, settled } = usePaletteItems(typed.trim());
  const combobox = useCombobox({ opened: true });
  const first = settled ? items[0] : undefined;

  useEffect(() => {
    if (!entered || first === undefined) return;
    close();
    first.go();
  });

  return (
    <Combobox
      store={combobox}
      onOptionSubmit={(value) => {
        close();
        items[Number(value)]?.go();
      }}
    >
      <Combobox.EventsTarget>
        <TextInput
          aria-label={text('palette.title')}
          placeholder={text('palette.hint')}
          leftSection={<Icon name="search" size={16} />}
          value={typed}
          onChange={(event) => {
            input.change(event.currentTarget.value);
            combobox.updateSelectedOptionIndex('active');
          }}
          // Enter selects the first result if none is chosen, once results are loaded.
          onKeyDown={(event) => {
            if (event.key === 'Enter' && combobox.getSelectedOptionIndex() === -1) input.enter();
          }}
          onFocus={({ currentTarget }) => {
            input.onFocus();
            // Puts the cursor after the text typed so far.
            currentTarget.setSelectionRange(typed.length, typed.length);
          }}
          data-autofocus
        />
      </Combobox.EventsTarget>
      <Combobox.Options mt="xs" aria-label={text('palette.title')}>
        {items.length === 0 && <Combobox.Empty>{text('palette.none')}</Combobox.Empty>}
        {items.map(({ name, icon }, index) => (
          <Combobox.Option key={`${icon} ${name}`} value={String(index)} className="goal">
            <Icon name={icon} size={16} /> {name}
          </Combobox.Option>
        ))}
      </Combobox.Options>
    </Combobox>
  );
}

/** The matching targets, and whether the first one is final. */
function usePaletteItems(typed: string): {
  readonly items: readonly PaletteItem[];
  readonly settled: boolean;
} {
  const account = useAccountId();
  const may = useMay();
  const navigate = useNavigate();
  const sections = useSections();
  const [contains] = useDebouncedValue(typed, 150);
  const templates = useQuery({
    queryKey: ['templates', account, 'palette', contains],
    queryFn: () =>
      answerOf(
        api.GET('/accounts/{accountId}/templates', {
          params: { path: { accountId: account }, query: { contains, limit: 8 } },
        }),
      ),
    enabled: contains !== '' && may('templates:read'),
  });
  const searched = contains === typed && !templates.isFetching;
  const lowerCaseInput = typed.toLowerCase();
  const pages = sections
    .flatMap(({ entries }) => entries)
    .map(
      ({ name, ...target }): PaletteItem => ({
        name: text(`nav.${name}` as TextKey),
        icon: name,
        go: () =>
          target.to === undefined
            ? location.assign(target.href)
            : navigate({ to: target.to, params: { account } }),
      }),
    )
    .filter(({ name }) => name.toLowerCase().includes(lowerCaseInput));
  const found = (contains === '' ? [] : (templates.data?.items ?? [])).map(
    ({ id, name }): PaletteItem => ({
      name: `${name} · ${id}`,
      icon: 'templates',
      go: () =>
        navigate({ to: '/$account/templates/$template', params: { account, template: id } }),
    }),
  );
  const messages: PaletteItem = {
    name: text('palette.messagesTo', { recipient: typed }),
    icon: 'messages',
    go: () =>
      navigate({ to: '/$account/messages', params: { account }, search: { recipient: typed } }),
  };
  const recipient = typed.length > 2 && may('messages:read') ? [messages] : [];
  return { items: [...pages, ...found, ...recipient], settled: pages.length > 0 || searched };
}
