import { useState } from 'react'
import { Form } from '../../ui/form.js'
import { NewPasswordField } from '../../ui/new-password.js'
import { Pane, Part } from '../../ui/part.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import { IdentitiesPart } from './identities.js'
import { PasskeysPart } from './passkeys.js'
import { type AccountProps, CurrentPasswordField } from './profile.js'
import { useAccountActions } from './queries.js'
import { SecondFactorPart } from './second-factor.js'

/** How the account signs in. */
export function Security(props: AccountProps) {
  return (
    <Pane>
      <PasswordPart {...props} />
      <SecondFactorPart {...props} />
      <PasskeysPart {...props} />
      <IdentitiesPart {...props} />
    </Pane>
  )
}

function PasswordPart({ account, security }: AccountProps) {
  const { changePassword } = useAccountActions()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const { hasPassword, passwordChangedAt: changedAt } = security
  return (
    <Part
      title="Password"
      hint={
        changedAt === undefined ? (
          `You have none. With one, you sign in as ${account.email}.`
        ) : (
          <>
            Set <Time at={changedAt} />. A change signs all other browsers out; tokens stay.
          </>
        )
      }
    >
      <Form
        submit={hasPassword ? 'Change the password' : 'Set the password'}
        onSubmit={async () => {
          await changePassword(password, current)
          setCurrent('')
          setPassword('')
          note('The password is set. Other browsers are signed out.')
        }}
      >
        {(faultOf) => (
          <>
            {hasPassword && (
              <CurrentPasswordField
                error={faultOf('currentPassword')}
                value={current}
                onChange={setCurrent}
              />
            )}
            <NewPasswordField
              label="New password"
              email={account.email}
              error={faultOf('password')}
              value={password}
              onChange={setPassword}
            />
          </>
        )}
      </Form>
    </Part>
  )
}
