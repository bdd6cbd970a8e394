import type { Client } from '@botstead/contract'
import { Status, type StatusKind } from './status.js'

type Installation = Awaited<
  ReturnType<Client['listIntegrationInstallations']>
>['installations'][number]

const states: Record<Installation['status'], { kind: StatusKind; word: string }> = {
  registration_pending: { kind: 'working', word: 'Registering' },
  registered: { kind: 'done', word: 'Registered' },
  registration_failed: { kind: 'attention', word: 'Registration failed' },
  unregistration_pending: { kind: 'working', word: 'Unregistering' },
  unregistered: { kind: 'off', word: 'Unregistered' },
  unregistration_failed: { kind: 'attention', word: 'Unregistration failed' },
}

/** Whether an integration is registered in a bot. */
export function InstallationStatus({ status }: Pick<Installation, 'status'>) {
  const { kind, word } = states[status]
  return <Status kind={kind}>{word}</Status>
}
