import { Button, CopyLine, Dialog } from '../../ui/index.ts'

export interface Made {
  readonly name: string
  readonly secret: string
}

/** Shows a secret once. */
export const SecretDialog = ({ made, onClose }: { made: Made; onClose: () => void }) => (
  <Dialog keep onClose={onClose} title={`The secret of ${made.name}`}>
    <p>Copy it now: it is not shown again.</p>
    <CopyLine text={made.secret} label="the secret" />
    <p className="muted">
      Requests have the header X-Scanfarm-Timestamp and, in X-Scanfarm-Signature, sha256= and the HMAC-SHA256
      of TIMESTAMP.BODY with this secret.
    </p>
    <div className="dialog-actions line">
      <Button kind="primary" onClick={onClose}>
        I have copied it
      </Button>
    </div>
  </Dialog>
)
