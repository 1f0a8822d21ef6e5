"""What the papers do not do; each module serves a notebook or two and nothing else imports it."""
