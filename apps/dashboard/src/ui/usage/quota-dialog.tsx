import { noQuota } from '@botstead/contract'
import { useState } from 'react'
import type { Usage } from '../../api/usage.js'
import { Dialog } from '../dialog.js'
import { Form, SelectField, TextField } from '../form.js'
import { note } from '../toasts.js'
import { formatUsage, kindOf } from './kinds.js'
import { fromSize, isSizeUnit, sizeUnits, toSize } from './quotas.js'
import styles from './usage.module.css'

interface QuotaDialogProps {
  usage: Usage
  /** The quota that the server sets. */
  ofServer: number | undefined
  /** Sets the quota, or removes it with null, and returns the one that counts now. */
  setQuota: (value: number | null) => Promise<number>
  onClose: () => void
}

const unitOptions = Object.keys(sizeUnits).map((value) => ({ value, label: value }))

/** Asks for the quota of a type: sizes as a number with a unit. */
export function QuotaDialog({ usage, ofServer = noQuota, setQuota, onClose }: QuotaDialogProps) {
  const { type, value, quota } = usage
  const { label, unit, isMonthly } = kindOf(type)
  const isSize = unit === 'bytes'
  const [typed, setTyped] = useState(() => toTyped(quota < ofServer ? quota : noQuota, isSize))
  const { amount } = typed
  return (
    <Dialog title={`Quota: ${label}`} onClose={onClose}>
      <Form
        submit="Save"
        onSubmit={async () => {
          const wanted = amount === '' ? noQuota : fromSize(amount, typed.unit)
          const allowed = await setQuota(amount === '' ? null : wanted)
          onClose()
          note(
            allowed < wanted
              ? `The quota is saved, but the smaller one of the server applies: ${formatUsage(type, allowed)}.`
              : wanted === noQuota
                ? 'The quota is removed.'
                : 'The quota is saved.',
          )
        }}
      >
        {(faultOf) => (
          <>
            <div className={styles.amount}>
              <TextField
                label={isMonthly ? 'Maximum per month' : 'Maximum'}
                type="number"
                inputMode={isSize ? 'decimal' : 'numeric'}
                min={0}
                step={isSize ? 'any' : 1}
                placeholder="no quota"
                error={faultOf('value')}
                value={amount}
                onChange={({ target }) => setTyped({ ...typed, amount: target.value })}
              />
              {isSize && (
                <SelectField
                  label="Unit"
                  options={unitOptions}
                  value={typed.unit}
                  onChange={({ target }) => {
                    if (isSizeUnit(target.value)) setTyped({ ...typed, unit: target.value })
                  }}
                />
              )}
            </div>
            <p className="muted">
              Leave it empty for no quota. Used {isMonthly ? 'this month' : 'now'}:{' '}
              {formatUsage(type, value)}. Requests that would exceed the quota are refused.
              {ofServer < noQuota && ` The server allows at most ${formatUsage(type, ofServer)}.`}
            </p>
          </>
        )}
      </Form>
    </Dialog>
  )
}

function toTyped(quota: number, isSize: boolean) {
  if (quota >= noQuota) return { amount: '', unit: isSize ? ('GB' as const) : ('bytes' as const) }
  return isSize ? toSize(quota) : { amount: String(quota), unit: 'bytes' as const }
}
