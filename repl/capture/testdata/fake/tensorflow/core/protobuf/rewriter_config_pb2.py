class RewriterConfig(object):
    OFF = 2
