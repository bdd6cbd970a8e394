import type { Client } from '@botstead/contract'
import { useState } from 'react'
import { forgetSession } from '../../frame/sign-out.js'
import { Button } from '../../ui/button.js'
import { Id } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { Form, TextField } from '../../ui/form.js'
import { Facts } from '../../ui/page.js'
import { Pane, Part } from '../../ui/part.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { type Account, useAccountActions } from './queries.js'

export interface AccountProps {
  account: Account
  security: Awaited<ReturnType<Client['getAccountSecurity']>>
}

/** Name and address of the account. */
export function Profile({ account, security }: AccountProps) {
  return (
    <>
      <Facts
        facts={[
          ['Id', <Id key="id" id={account.id} what="id of the account" />],
          ['Address', account.email],
          ['Created', <Time key="created" at={account.createdAt} />],
        ]}
      />
      <Pane>
        <NamePart account={account} />
        <AddressPart key={account.email} account={account} security={security} />
        <DeletePart account={account} security={security} />
      </Pane>
    </>
  )
}

function NamePart({ account }: { account: Account }) {
  const { rename } = useAccountActions()
  const [name, setName] = useState(account.displayName ?? '')
  return (
    <Part title="Name">
      <Form
        submit="Save the name"
        onSubmit={async () => {
          await rename(name)
          note('The name is saved.')
        }}
      >
        {(faultOf) => (
          <TextField
            label="Your name"
            autoComplete="name"
            required
            maxLength={200}
            hint="Shown to the other members of your workspaces."
            error={faultOf('displayName')}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
        )}
      </Form>
    </Part>
  )
}

function AddressPart({ account, security }: AccountProps) {
  const { changeEmail } = useAccountActions()
  const [email, setEmail] = useState(account.email)
  const [current, setCurrent] = useState('')
  return (
    <Part title="Email address" hint="You sign in with it.">
      <Form
        submit="Save the address"
        isDisabled={email.trim() === account.email}
        onSubmit={async () => {
          await changeEmail(email.trim(), current)
          note('The address is saved.')
        }}
      >
        {(faultOf) => (
          <>
            <TextField
              label="Email address"
              inputMode="email"
              autoComplete="email"
              required
              maxLength={320}
              error={faultOf('email')}
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
            {security.hasPassword && (
              <CurrentPasswordField
                error={faultOf('currentPassword')}
                value={current}
                onChange={setCurrent}
              />
            )}
          </>
        )}
      </Form>
    </Part>
  )
}

function DeletePart({ account, security }: AccountProps) {
  const { removeAccount } = useAccountActions()
  const [isAsking, setAsking] = useState(false)
  const [typed, setTyped] = useState('')
  const [current, setCurrent] = useState('')
  return (
    <Part
      title="Delete the account"
      hint="You leave all workspaces, and your tokens stop working. What you made in workspaces stays there."
    >
      <Button kind="danger" onClick={() => setAsking(true)}>
        Delete the account
      </Button>
      {isAsking && (
        <Dialog title={`Delete the account ${account.email}?`} onClose={() => setAsking(false)}>
          <Form
            submit="Delete for ever"
            isDangerous
            isDisabled={typed !== account.email}
            onSubmit={async () => {
              await removeAccount(current)
              forgetSession()
              location.reload()
            }}
          >
            {(faultOf) => (
              <>
                <TextField
                  label={`Type the address of the account: ${account.email}`}
                  autoComplete="off"
                  value={typed}
                  onChange={({ target }) => setTyped(target.value)}
                />
                {security.hasPassword && (
                  <CurrentPasswordField
                    error={faultOf('currentPassword')}
                    value={current}
                    onChange={setCurrent}
                  />
                )}
              </>
            )}
          </Form>
        </Dialog>
      )}
    </Part>
  )
}

interface CurrentPasswordProps {
  error: string | undefined
  value: string
  onChange: (value: string) => void
}

/** The password of today, before it or the address is changed. */
export function CurrentPasswordField({ onChange, ...field }: CurrentPasswordProps) {
  return (
    <TextField
      label="Current password"
      type="password"
      autoComplete="current-password"
      required
      maxLength={512}
      {...field}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}
