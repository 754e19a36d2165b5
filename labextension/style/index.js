import './base.css';
import '../../nbddp/widget/static/run.css';
