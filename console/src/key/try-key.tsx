import { Code } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useAccountId, useMe } from '../account/use-me.ts';
import { api } from '../api/management.ts';
import { CopyHeading } from '../components/copy-field.tsx';
import { curlWithKey } from '../template/snippets.ts';
import { text } from '../texts/text.ts';

/** A command that sends with a newly created key. */
export function TryKey({ keyText, templateId }: { keyText: string; templateId: string }) {
  const accountId = useAccountId();
  const { data: me } = useMe();
  const values = useSamples(templateId);
  if (values === undefined) return null;
  const facts = { url: location.origin, accountId, templateId, values, to: me?.person?.email };
  const command = curlWithKey(facts, keyText);
  return (
    <div>
      <CopyHeading title={text('keys.try')} value={command} />
      <Code block className="snippet" tabIndex={0}>
        {command}
      </Code>
    </div>
  );
}

/** Samples of the required fields; undefined while loading. */
function useSamples(templateId: string): Readonly<Record<string, unknown>> | undefined {
  const accountId = useAccountId();
  const { data, isPending } = useQuery({
    queryKey: ['templates', accountId, templateId, 'samples'],
    queryFn: async () => {
      const path = { accountId, templateId };
      const { publishedVersion } = await api.get(
        '/accounts/{accountId}/templates/{templateId}',
        path,
      );
      const { fields } = await api.get(
        '/accounts/{accountId}/templates/{templateId}/versions/{version}',
        { ...path, version: publishedVersion ?? 1 },
      );
      return fields.filter(({ required }) => required);
    },
    retry: false,
  });
  if (isPending) return undefined;
  return Object.fromEntries((data ?? []).map(({ name, example }) => [name, example]));
}
