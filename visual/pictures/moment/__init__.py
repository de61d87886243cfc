"""One step, large: what stood on the tapes, what arrives with which factor, what stands there now.

Start with `moment`; `slots` are the tapes before and after the step, `arrows` what goes between.
"""
