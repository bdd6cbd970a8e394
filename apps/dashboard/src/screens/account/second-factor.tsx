import { useEffect, useState } from 'react'
import { Button } from '../../ui/button.js'
import { CopyButton } from '../../ui/copy.js'
import { Dialog } from '../../ui/dialog.js'
import { CodeField, Form } from '../../ui/form.js'
import { Part } from '../../ui/part.js'
import { save } from '../../ui/save.js'
import { Skeleton } from '../../ui/states.js'
import { Time } from '../../ui/time.js'
import { note } from '../../ui/toasts.js'
import styles from './account.module.css'
import { type AccountProps, CurrentPasswordField } from './profile.js'
import { useAccountActions } from './queries.js'

type Step = 'start' | 'renew' | 'remove' | undefined

/** The second factor of the account: an authenticator app, and recovery codes. */
export function SecondFactorPart({ security }: AccountProps) {
  const [step, setStep] = useState<Step>()
  const [codes, setCodes] = useState<string[]>()
  const { hasPassword, secondFactor } = security
  const close = () => setStep(undefined)
  return (
    <Part
      title="Second factor"
      hint={
        secondFactor === undefined ? (
          'A code of an app on your phone, after the password. Whoever knows your password alone cannot sign in.'
        ) : (
          <>
            In force since <Time at={secondFactor.since} />. {secondFactor.recoveryCodesLeft}{' '}
            recovery codes are left.
          </>
        )
      }
    >
      {codes !== undefined && <RecoveryCodes codes={codes} />}
      {secondFactor === undefined ? (
        <div>
          <Button disabled={!hasPassword} onClick={() => setStep('start')}>
            Set up an app
          </Button>
          {!hasPassword && <p className="muted">Set a password first.</p>}
        </div>
      ) : (
        <div className={styles.actions}>
          <Button onClick={() => setStep('renew')}>New recovery codes</Button>
          <Button kind="danger" onClick={() => setStep('remove')}>
            Remove
          </Button>
        </div>
      )}
      {step === 'start' && <SetUpDialog onClose={close} onCodes={setCodes} />}
      {(step === 'renew' || step === 'remove') && (
        <ChangeDialog step={step} onClose={close} onCodes={setCodes} />
      )}
    </Part>
  )
}

interface DialogProps {
  onClose: () => void
  /** Shows recovery codes; undefined hides those of before. */
  onCodes: (codes: string[] | undefined) => void
}

/** Asks for the password, shows the secret, and asks for a code of the app. */
function SetUpDialog({ onClose, onCodes }: DialogProps) {
  const { startSecondFactor, confirmSecondFactor } = useAccountActions()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const [begun, setBegun] = useState<{ secret: string; uri: string }>()
  if (begun === undefined) {
    return (
      <Dialog title="Set up an authenticator app" onClose={onClose}>
        <Form submit="Go on" onSubmit={async () => setBegun(await startSecondFactor(password))}>
          {(faultOf) => (
            <CurrentPasswordField
              error={faultOf('currentPassword')}
              value={password}
              onChange={setPassword}
            />
          )}
        </Form>
      </Dialog>
    )
  }
  return (
    <Dialog title="Add the account to the app" onClose={onClose}>
      <p>Scan this with an authenticator app, or type the secret there:</p>
      <QrCode text={begun.uri} />
      <div className={styles.secret}>
        <code>{begun.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
        <CopyButton text={begun.secret} what="secret">
          Copy
        </CopyButton>
      </div>
      <Form
        submit="Confirm"
        onSubmit={async () => {
          onCodes(await confirmSecondFactor(code))
          onClose()
          note('The second factor is in force. Other browsers are signed out.')
        }}
      >
        {(faultOf) => (
          <CodeField
            label="Code that the app shows"
            error={faultOf('code')}
            value={code}
            onChange={setCode}
          />
        )}
      </Form>
    </Dialog>
  )
}

/** A QR code. The library that draws it is loaded with the first one. */
function QrCode({ text }: { text: string }) {
  const [rows, setRows] = useState<boolean[][]>()
  useEffect(() => {
    void import('uqr').then(({ encode }) => setRows(encode(text, { border: 2 }).data))
  }, [text])
  if (rows === undefined) return <Skeleton lines={4} />
  const dark = rows.flatMap((row, y) => row.flatMap((is, x) => (is ? `M${x} ${y}h1v1h-1z` : [])))
  return (
    <svg
      className={styles.qr}
      role="img"
      aria-label="QR code with the secret below"
      viewBox={`0 0 ${rows.length} ${rows.length}`}
      shapeRendering="crispEdges"
    >
      <path d={dark.join('')} />
    </svg>
  )
}

function ChangeDialog({ step, onClose, onCodes }: DialogProps & { step: 'renew' | 'remove' }) {
  const { renewRecoveryCodes, removeSecondFactor } = useAccountActions()
  const [password, setPassword] = useState('')
  const [code, setCode] = useState('')
  const isRemoval = step === 'remove'
  return (
    <Dialog
      title={isRemoval ? 'Remove the second factor?' : 'Make new recovery codes?'}
      onClose={onClose}
    >
      <Form
        submit={isRemoval ? 'Remove' : 'Make new codes'}
        isDangerous={isRemoval}
        onSubmit={async () => {
          const proof = { currentPassword: password, code }
          onCodes(isRemoval ? undefined : await renewRecoveryCodes(proof))
          if (isRemoval) await removeSecondFactor(proof)
          onClose()
          note(isRemoval ? 'The second factor is removed.' : 'The codes of before no longer work.')
        }}
      >
        {(faultOf) => (
          <>
            <CurrentPasswordField
              error={faultOf('currentPassword')}
              value={password}
              onChange={setPassword}
            />
            <CodeField
              label="Code of the app, or a recovery code"
              error={faultOf('code')}
              value={code}
              onChange={setCode}
            />
          </>
        )}
      </Form>
    </Dialog>
  )
}

/** Recovery codes at the only moment at which they are known. */
function RecoveryCodes({ codes }: { codes: readonly string[] }) {
  const text = codes.join('\n')
  return (
    <div role="status" className={styles.codes}>
      <p>
        These are your recovery codes, for a sign-in without the app. Each works once, and they are
        shown only now: keep them in a safe place.
      </p>
      <pre>{text}</pre>
      <div className={styles.actions}>
        <Button onClick={() => save(new Blob([`${text}\n`]), 'botstead-recovery-codes.txt')}>
          Download
        </Button>
        <CopyButton text={text} what="recovery codes">
          Copy
        </CopyButton>
      </div>
    </div>
  )
}
