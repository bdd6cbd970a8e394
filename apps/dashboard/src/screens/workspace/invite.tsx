import { type Role, roles, roleTexts } from '@botstead/contract'
import { useState } from 'react'
import { useSignInWays } from '../../api/sign-in-ways.js'
import { Button } from '../../ui/button.js'
import { Dialog } from '../../ui/dialog.js'
import { CheckField, Form, SelectField, TextField } from '../../ui/form.js'
import { SecretOnce } from '../../ui/secret-once.js'
import { type MadeAddress, useMemberActions } from './queries.js'

interface InvitationAddressProps extends MadeAddress {
  email: string
}

/** The address of an invitation at the only moment at which it is known. */
export function InvitationAddress({ email, url, isMailed }: InvitationAddressProps) {
  return (
    <SecretOnce what="address of the invitation" value={url}>
      {isMailed
        ? `A mail with this address is on its way to ${email}.`
        : `Send this address to ${email}.`}{' '}
      It works once, for seven days, and is shown only now.
    </SecretOnce>
  )
}

interface InviteDialogProps {
  mayInviteOwner: boolean
  onClose: () => void
}

/** Invites a person, and shows the address to pass on. */
export function InviteDialog({ mayInviteOwner, onClose }: InviteDialogProps) {
  const { invite } = useMemberActions()
  const [email, setEmail] = useState('')
  const [role, setRole] = useState<Role>('developer')
  const [isMailed, setMailed] = useState(true)
  const hasMail = useSignInWays()?.mail === true
  const [made, setMade] = useState<InvitationAddressProps>()
  if (made !== undefined) {
    return (
      <Dialog title={`Invitation for ${made.email}`} onClose={onClose}>
        <InvitationAddress {...made} />
        <div>
          <Button
            onClick={() => {
              setMade(undefined)
              setEmail('')
            }}
          >
            Invite another person
          </Button>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog title="Invite a person" onClose={onClose}>
      <Form
        submit="Invite"
        onSubmit={async () =>
          setMade({ email, ...(await invite(email, role, hasMail && isMailed)) })
        }
      >
        {(faultOf) => (
          <>
            <TextField
              label="Email address"
              type="email"
              required
              maxLength={320}
              autoComplete="off"
              hint={
                !hasMail && 'The server sends no mail: send the address of the invitation yourself.'
              }
              error={faultOf('email')}
              value={email}
              onChange={({ target }) => setEmail(target.value)}
            />
            <SelectField
              label="Role"
              hint={roleTexts[role]}
              error={faultOf('role')}
              options={roles
                .filter((each) => each !== 'owner' || mayInviteOwner)
                .map((value) => ({ value, label: value }))}
              value={role}
              onChange={({ target }) => {
                const chosen = roles.find((each) => each === target.value)
                if (chosen !== undefined) setRole(chosen)
              }}
            />
            {hasMail && (
              <CheckField
                label="Send the invitation by mail"
                checked={isMailed}
                onChange={({ target }) => setMailed(target.checked)}
              />
            )}
          </>
        )}
      </Form>
    </Dialog>
  )
}
