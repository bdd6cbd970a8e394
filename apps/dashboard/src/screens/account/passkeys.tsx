import type { Client } from '@botstead/contract'
import { useState } from 'react'
import { usePasskeysHere } from '../../api/sign-in-ways.js'
import { type CreationOptions, makePasskey } from '../../api/webauthn.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { CodeField, Form, TextField } from '../../ui/form.js'
import { LastUse } from '../../ui/keys.js'
import { ItemList, Part } from '../../ui/part.js'
import { ErrorPanel, Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import styles from './account.module.css'
import { type AccountProps, CurrentPasswordField } from './profile.js'
import { useAccountActions, usePasskeys } from './queries.js'

type Passkey = Awaited<ReturnType<Client['listPasskeys']>>['passkeys'][number]
type Step = { kind: 'add' } | { kind: 'rename' | 'remove'; passkey: Passkey } | undefined

/** Passkeys of the account, with which it signs in without a password. */
export function PasskeysPart({ security }: AccountProps) {
  const obstacle = usePasskeysHere()
  const { data, error, refetch } = usePasskeys()
  const [step, setStep] = useState<Step>()
  const passkeys = data?.passkeys ?? []
  const usable = passkeys.filter(({ host }) => host === location.hostname)
  const hasOther = security.hasPassword || security.identities.length > 0 || usable.length > 1
  const isOnly = ({ host }: Passkey) => !hasOther && host === location.hostname
  const close = () => setStep(undefined)
  return (
    <Part
      title="Passkeys"
      hint="Sign in with your fingerprint, face or PIN on a device of yours, or with a security key: without a password, and without a code."
    >
      {error !== null && <ErrorPanel error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton lines={1} />}
      {passkeys.length > 0 && (
        <ItemList
          items={passkeys}
          idOf={({ id }) => id}
          describe={(passkey) => ({ name: passkey.name, facts: <Facts passkey={passkey} /> })}
          actions={(passkey) => (
            <>
              <Button
                aria-label={`Rename ${passkey.name}`}
                onClick={() => setStep({ kind: 'rename', passkey })}
              >
                Rename
              </Button>
              <Button
                kind="danger"
                disabled={isOnly(passkey)}
                aria-label={`Remove ${passkey.name}`}
                onClick={() => setStep({ kind: 'remove', passkey })}
              >
                Remove
              </Button>
            </>
          )}
        />
      )}
      {passkeys.some(isOnly) && (
        <p className="muted">
          You sign in with this passkey only: set a password or add another passkey to remove it.
        </p>
      )}
      <div className={styles.actions}>
        <Button disabled={obstacle !== undefined} onClick={() => setStep({ kind: 'add' })}>
          Add a passkey
        </Button>
      </div>
      {obstacle !== undefined && <p className="muted">{obstacle}</p>}
      {step?.kind === 'add' && <AddDialog security={security} onClose={close} />}
      {step?.kind === 'rename' && <RenameDialog passkey={step.passkey} onClose={close} />}
      {step?.kind === 'remove' && (
        <RemoveDialog passkey={step.passkey} security={security} onClose={close} />
      )}
    </Part>
  )
}

function Facts({ passkey }: { passkey: Passkey }) {
  const { createdAt, lastUsedAt, host, syncable } = passkey
  return (
    <>
      Added <Time at={createdAt} />, <LastUse at={lastUsedAt} />
      {syncable ? '; on all devices of your password manager' : '; on one device'}
      {host !== location.hostname && `. It works at ${host} only.`}
    </>
  )
}

interface NameProps {
  error: string | undefined
  value: string
  onChange: (value: string) => void
}

function PasskeyName({ onChange, ...field }: NameProps) {
  return (
    <TextField
      label="Name"
      hint="By which you know it again, such as that of the device."
      required
      maxLength={100}
      {...field}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

interface DialogProps {
  onClose: () => void
}

/** Asks for the proof and a name, then the browser for the passkey. */
function AddDialog({ security, onClose }: DialogProps & Pick<AccountProps, 'security'>) {
  const { beginPasskey, addPasskey } = useAccountActions()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [name, setName] = useState('')
  // Kept when the request of the browser is cancelled: the code was used, and a second request needs none.
  const [options, setOptions] = useState<CreationOptions>()
  const { hasPassword, secondFactor } = security
  return (
    <Dialog title="Add a passkey" onClose={onClose}>
      <Form
        submit="Go on"
        onSubmit={async () => {
          const begun =
            options ??
            (await beginPasskey({
              ...(hasPassword && { currentPassword: password }),
              ...(secondFactor !== undefined && { code }),
            }))
          setOptions(begun)
          const credential = await makePasskey(begun)
          setOptions(undefined)
          await addPasskey(name, credential)
          onClose()
          note('The passkey is added.')
        }}
      >
        {(faultOf) => (
          <>
            <PasskeyName error={faultOf('name')} value={name} onChange={setName} />
            {hasPassword && (
              <CurrentPasswordField
                error={faultOf('currentPassword')}
                value={password}
                onChange={setPassword}
              />
            )}
            {secondFactor !== undefined && (
              <CodeField
                label="Code"
                hint="Of your authenticator app; or one of your recovery codes."
                error={faultOf('code')}
                value={code}
                onChange={setCode}
              />
            )}
            <p className="muted">
              Your browser asks you next where the passkey is kept, and for your fingerprint, face
              or PIN.
            </p>
          </>
        )}
      </Form>
    </Dialog>
  )
}

function RenameDialog({ passkey, onClose }: DialogProps & { passkey: Passkey }) {
  const { renamePasskey } = useAccountActions()
  const [name, setName] = useState(passkey.name)
  return (
    <Dialog title="Rename the passkey" onClose={onClose}>
      <Form
        submit="Save the name"
        onSubmit={async () => {
          await renamePasskey(passkey.id, name)
          onClose()
        }}
      >
        {(faultOf) => <PasskeyName error={faultOf('name')} value={name} onChange={setName} />}
      </Form>
    </Dialog>
  )
}

function RemoveDialog({
  passkey,
  security,
  onClose,
}: DialogProps & Pick<AccountProps, 'security'> & { passkey: Passkey }) {
  const { removePasskey } = useAccountActions()
  const [password, setPassword] = useState('')
  return (
    <Dialog title={`Remove “${passkey.name}”?`} onClose={onClose}>
      <Form
        submit="Remove"
        isDangerous
        onSubmit={async () => {
          await removePasskey(passkey.id, password)
          onClose()
          note('The passkey is removed. Other browsers are signed out.')
        }}
      >
        {(faultOf) => (
          <>
            <p>
              You can no longer sign in with it, and all other browsers are signed out. Delete it
              from your device too.
            </p>
            {security.hasPassword && (
              <CurrentPasswordField
                error={faultOf('currentPassword')}
                value={password}
                onChange={setPassword}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  )
}
