import {
  Anchor,
  Group,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Textarea,
} from '@mantine/core';
import { useAccountId, useMay, useMe } from '../account/use-me.ts';
import { putUnchanged } from '../api/if-unchanged.ts';
import type { AccessPolicy } from '../api/management.generated.ts';
import { reasonFor } from '../api/problem.ts';
import { useGet } from '../api/use-get.ts';
import { useRefresh } from '../api/use-refresh.ts';
import { choicesOf } from '../components/choices-of.ts';
import { Field } from '../components/field.tsx';
import { ProblemAlert } from '../components/problem-alert.tsx';
import { SaveButton } from '../components/save-button.tsx';
import { SectionCard } from '../components/section-card.tsx';
import { useForm } from '../form/use-form.ts';
import { text } from '../texts/text.ts';

const rules = ['own-choice', 'owners', 'everyone'] as const;
const signInRules = ['own-choice', 'single-sign-on'] as const;

const emptyPolicy: AccessPolicy = {
  signIn: 'own-choice',
  secondFactor: 'own-choice',
  signInHours: null,
  peopleNetworks: [],
  programNetworks: [],
  securityAddress: '',
};

/** What the account asks of its callers beyond their role. */
export function PolicySettings() {
  const accountId = useAccountId();
  const may = useMay();
  const params = { accountId };
  const policy = useGet('/accounts/{accountId}/policy', { params, enabled: may('policy:write') });
  if (!may('policy:write')) return null;
  return (
    <SectionCard
      id="policy"
      title={text('policy.title')}
      hint={text('policy.hint')}
      action={
        <Anchor href="/me" size="sm">
          {text('policy.own')}
        </Anchor>
      }
    >
      <ProblemAlert error={policy.error} retry={() => policy.refetch()} />
      <PolicyForm policy={policy.data} />
    </SectionCard>
  );
}

/** Shows no values while the policy loads, to reserve its space. */
function PolicyForm({ policy }: { policy: AccessPolicy | undefined }) {
  const accountId = useAccountId();
  const address = useMe().data?.address;
  const params = { accountId };
  const { values, change, changed, saving, error, submit, reset } = useForm({
    stored: policy ?? emptyPolicy,
    toValues: (stored) => stored,
    save: ({ values, seen }) =>
      putUnchanged('/accounts/{accountId}/policy', params, seen, {
        ...values,
        peopleNetworks: values.peopleNetworks.filter(Boolean),
        programNetworks: values.programNetworks.filter(Boolean),
      }),
    notice: text('policy.saved'),
    reload: useRefresh('policy'),
  });
  const reading = policy === undefined;
  const lockout = reasonFor(error, 'secondFactor');

  const networks = (name: 'peopleNetworks' | 'programNetworks') => ({
    label: text(`policy.${name}`),
    description: text('policy.networksHint'),
    placeholder: text('policy.anywhere'),
    autosize: true,
    minRows: 2,
    value: values[name].join('\n'),
    onChange: (event: { currentTarget: { value: string } }) =>
      change({ [name]: event.currentTarget.value.split(/[\s,]/) }),
    error: reasonFor(error, name),
    disabled: reading,
  });

  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, sm: 2 }}>
          <NativeSelect
            label={text('policy.signIn')}
            description={text('policy.signInHint')}
            data={choicesOf(signInRules, (value) => text(`policy.signIn.${value}`))}
            value={values.signIn}
            onChange={(event) =>
              change({ signIn: event.currentTarget.value as AccessPolicy['signIn'] })
            }
            error={reasonFor(error, 'signIn')}
            disabled={reading}
          />
          <NativeSelect
            label={text('policy.secondFactor')}
            description={text('policy.secondFactorHint')}
            data={choicesOf(rules, (value) => text(`policy.rule.${value}`))}
            value={values.secondFactor}
            onChange={(event) =>
              change({ secondFactor: event.currentTarget.value as AccessPolicy['secondFactor'] })
            }
            error={
              lockout !== undefined && (
                <>
                  {lockout}{' '}
                  <Anchor href="/me/second-factor" size="xs" underline="always">
                    {text('problem.secondFactor')}
                  </Anchor>
                </>
              )
            }
            disabled={reading}
          />
          <NumberInput
            label={text('policy.signInHours')}
            description={text('policy.signInHoursHint')}
            placeholder={text('policy.never')}
            min={1}
            max={168}
            value={values.signInHours ?? ''}
            onChange={(hours) => change({ signInHours: typeof hours === 'number' ? hours : null })}
            error={reasonFor(error, 'signInHours')}
            disabled={reading}
          />
          <Field
            field="securityAddress"
            type="email"
            label={text('policy.securityAddress')}
            description={text('policy.securityAddressHint')}
            placeholder={text('policy.nobody')}
            value={values.securityAddress}
            change={(securityAddress) => change({ securityAddress })}
            error={error}
            disabled={reading}
          />
          <Textarea
            {...networks('peopleNetworks')}
            description={
              <>
                {text('policy.networksHint')}
                <br />
                {address !== undefined && text('policy.address', { address })}{' '}
                {address !== undefined && !values.peopleNetworks.includes(address) && (
                  <Anchor
                    component="button"
                    type="button"
                    size="xs"
                    onClick={() =>
                      change({
                        peopleNetworks: [...values.peopleNetworks.filter(Boolean), address],
                      })
                    }
                  >
                    {text('policy.addAddress')}
                  </Anchor>
                )}
              </>
            }
          />
          <Textarea {...networks('programNetworks')} />
        </SimpleGrid>
        <ProblemAlert error={error} onRefreshed={reset} />
        <Group mt={8}>
          <SaveButton changed={changed} saving={saving} />
        </Group>
      </Stack>
    </form>
  );
}
