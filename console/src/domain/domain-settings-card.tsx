import { Button } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMay } from '../account/use-me.ts';
import type { Domain } from '../api/management.generated.ts';
import { SectionCard } from '../components/section-card.tsx';
import { text } from '../texts/text.ts';
import { DomainSettingsDialog } from './domain-settings-dialog.tsx';
import './domain.css';

/** Tracking host and source pool of a domain. */
export function DomainSettingsCard({ domain }: { domain: Domain }) {
  const may = useMay();
  const [opened, dialog] = useDisclosure();
  return (
    <SectionCard
      id="domain-settings"
      title={text('domainSettings.title')}
      action={
        may('domains:write') && (
          <Button size="compact-sm" variant="default" onClick={dialog.open}>
            {text('domainSettings.change')}
          </Button>
        )
      }
    >
      <dl className="record">
        <dt>{text('domainSettings.tracking')}</dt>
        <dd>{domain.trackingHost ?? text('domainSettings.service')}</dd>
        <dt>{text('domainSettings.pool')}</dt>
        <dd>{domain.sourcePool}</dd>
      </dl>
      {opened && <DomainSettingsDialog domain={domain.domain} close={dialog.close} />}
    </SectionCard>
  );
}
