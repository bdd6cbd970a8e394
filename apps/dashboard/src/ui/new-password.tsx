import { TextField } from './form.js'

interface NewPasswordProps {
  /** Address of the account, which a password manager stores with the password. */
  email: string
  label?: string
  error: string | undefined
  value: string
  onChange: (value: string) => void
}

/** The field of a password that is chosen, with the address that it belongs to. */
export function NewPasswordField({ email, label = 'Password', ...field }: NewPasswordProps) {
  return (
    <>
      <input type="text" autoComplete="username" value={email} readOnly hidden />
      <TextField
        label={label}
        type="password"
        autoComplete="new-password"
        required
        minLength={10}
        maxLength={128}
        hint="At least 10 characters. Several words that have nothing to do with each other are easy to remember and hard to guess."
        error={field.error}
        value={field.value}
        onChange={({ target }) => field.onChange(target.value)}
      />
    </>
  )
}
